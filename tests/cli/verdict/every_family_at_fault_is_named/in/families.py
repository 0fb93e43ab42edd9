"""Give the trace argv[1] two families that are owed, and only missing gradients."""
import hashlib
import json
import struct
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    records = [json.loads(line) for line in file]
contract = records[0]["capture_contract"]["gradient_contract"]
digest = hashlib.sha256(b"candle-graph/gradient-manifest/1\0")
for number, entry in enumerate(contract["expected"]):
    entry["family"] = "first" if number < 2 else "second"
    for text in (entry["root"], entry["key"], entry["family"]):
        digest.update(struct.pack("<Q", len(text.encode())) + text.encode())
contract["manifest_sha256"] = "sha256:" + digest.hexdigest()
contract["families"] = [{"family": name, "expectation": "active", "min_present": 1}
                        for name in ("first", "second")]
for record in records:
    if record["kind"] == "gradient":
        record["state"] = "missing"
        record.pop("norm", None)
    print(json.dumps(record))
