"""Write a safetensors file of zeros: tensors.py FILE NAME=DTYPE[DIM,DIM] ..., with {0..3} for families."""
import json
import re
import struct
import sys

SIZES = {"F32": 4, "F16": 2, "BF16": 2, "U8": 1, "I64": 8}


def expand(name):
    span = re.search(r"\{(\d+)\.\.(\d+)\}", name)
    if not span:
        return [name]
    return [name[:span.start()] + str(i) + name[span.end():]
            for i in range(int(span[1]), int(span[2]) + 1)]


def main(path, *tensors):
    header, at = {}, 0
    for tensor in tensors:
        names, dtype, dims = re.fullmatch(r"(.*)=(\w+)\[(.*)\]", tensor).groups()
        shape = [int(dim) for dim in dims.split(",") if dim]
        count = SIZES[dtype]
        for dim in shape:
            count *= dim
        for name in expand(names):
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + count]}
            at += count
    text = json.dumps(header).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + bytes(at))


main(*sys.argv[1:])
