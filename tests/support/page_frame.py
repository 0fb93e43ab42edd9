"""What every page is held to, whatever it shows: closed to the outside, its data escaped.

Shared by the tests of the pages (tests/wire/page.py, model_page.py), which import it by
path; no test of its own.
"""
import base64
import hashlib
import json
import re
import subprocess

# What other tools look for in the frame.
MARKS = ("data-viewer=\"candle-graph\"", "data-pane=\"sidebar\"", "data-pane=\"canvas\"",
         "data-pane=\"inspector\"", "data-view-tabs", "data-module-tree", "data-findings-list",
         "data-canvas", "data-inspector", "data-coverage", "data-legend", "data-theme-toggle")
GRADIENTS = ("Trainable", "Frozen", "Differentiable", "Severed", "LayoutDependent", "Unknown")


class Failed(Exception):
    pass


def need(fact, text):
    if not fact:
        raise Failed(text)


def run(cli, *argv):
    return subprocess.run([cli, *argv], capture_output=True, check=False)


def same(what, found, want):
    need(json.dumps(found, sort_keys=True) == json.dumps(want, sort_keys=True),
         "%s: %s, not %s" % (what, json.dumps(found)[:300], json.dumps(want)[:300]))


def unique(pairs):
    """For json: an object whose keys are sorted and stand there once."""
    keys = [key for key, _ in pairs]
    need(keys == sorted(keys, key=lambda k: k.encode()), "keys are not sorted: %s" % keys)
    need(len(keys) == len(set(keys)), "a key stands twice: %s" % keys)
    return dict(pairs)


def read_island(text, name="cg-payload"):
    """The value of an island of JSON, and its text: sorted, compact, nothing of markup in it."""
    parts = re.findall(r'<script id="%s" type="application/json">(.*?)</script>' % name, text, re.S)
    need(len(parts) == 1, "%d islands %s" % (len(parts), name))
    need(not re.search("[<>&\u2028\u2029\x00]", parts[0]), "the island %s is not escaped" % name)
    bare = re.sub(r'"[^"\\]*(?:\\.[^"\\]*)*"', "", parts[0])
    need(not re.search(r"\s", bare), "the island %s is not compact" % name)
    return json.loads(parts[0], object_pairs_hook=unique), parts[0]


def source_hash(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def check_frame(frame, views=()):
    """A page without its data; `views` must have their tabs."""
    style = re.findall(r"<style>(.*?)</style>", frame, re.S)
    script = re.findall(r"<script>(.*?)</script>", frame, re.S)
    policy = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', frame)
    need(len(style) == len(script) == len(policy) == 1, "style, script and policy stand there once")
    rules = dict((rule.split()[0], rule.split()[1:]) for rule in policy[0].split(";"))
    need(rules["default-src"] == ["'none'"], "default-src: %s" % rules["default-src"])
    need(rules["script-src"] == [source_hash(script[0])], "script-src: %s" % rules["script-src"])
    need(rules["style-src"] == [source_hash(style[0])], "style-src: %s" % rules["style-src"])
    need(frame.startswith("<!DOCTYPE html>"), "the first line")
    need(frame.index("Content-Security-Policy") < frame.index("<style>"), "the policy comes late")
    need("://" not in frame, "a reference to a network")
    need(not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|\beval\b|new Function",
                       script[0]), "the script takes text for code")
    bare = frame.replace(script[0], "").replace(style[0], "")
    need(re.findall(r'(?:href|src)="([^"]*)"', bare) == ["data:,", "#main"], "references")
    need(not re.search(r"\son\w+=|style=", bare), "a handler or style in an attribute")
    for mark in MARKS + tuple('data-legend-item="%s"' % word for word in GRADIENTS):
        need(bare.count(mark) >= 1, "the mark %s" % mark)
    ids = re.findall(r'\bid="([^"]*)"', bare)
    need(len(ids) == len(set(ids)), "an id stands twice")
    for name in re.findall(r'role="tab" id="tab-(\w+)"', bare) + list(views):
        need("tab-" + name in ids and "view-" + name in ids, "the view %s" % name)
