"""Reads the texts of a folder with Python's own decoders and compares each with the data it was written from.

Prints one line for every text that differs. Run by tests/peers/second_decoders.rs. PyYAML reads YAML 1.1: what it takes for
something other than text has to be on the list that Loupe wrote beside the text.
"""
import csv
import io
import json
import os
from decimal import Decimal
from pathlib import Path

import yaml

csv.field_size_limit(1 << 30)
folder = Path(os.environ["LOUPE_TEXTS"])
compared = 0


def load(text):
    return json.loads(text, parse_float=Decimal)


def cell(value, raw):
    """What a cell has to say; `raw` is the compact JSON of the value, as Loupe spells it."""
    if value is None:
        return ""
    return value if isinstance(value, str) else raw


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def row_set(data):
    records = lambda value: isinstance(value, list) and value and all(isinstance(item, dict) for item in value)
    if records(data):
        return {}, data
    lists = [key for key, value in data.items() if records(value)]
    assert len(lists) == 1
    return {key: value for key, value in data.items() if key != lists[0]}, data[lists[0]]


def check_csv(data, text):
    envelope, records = row_set(data)
    columns = list(dict.fromkeys(key for record in records for key in record))
    wanted = []
    if envelope:
        wanted += [list(envelope), [cell(value, compact(value)) for value in envelope.values()], []]
    wanted.append(columns)
    wanted += [[cell(record.get(key), compact(record.get(key))) for key in columns] for record in records]
    found = list(csv.reader(io.StringIO(text, newline="")))
    return None if found == wanted else f"{found} is not {wanted}"


def check_yaml(data, text, retyped):
    """The types that PyYAML resolves in a list of scalars; some, such as `<<`, it then refuses to build."""
    found = [node.tag.rpartition(":")[2] for node in yaml.compose(text, Loader=yaml.SafeLoader).value]
    wanted = ["str" if isinstance(value, str) else "number" for value in data]
    kind = lambda tag: "number" if tag in ("int", "float") and wanted[0] == "number" else tag
    unlisted = [f"/{at}" for at, tag in enumerate(found) if kind(tag) != wanted[at] and f"/{at}" not in retyped]
    return f"PyYAML retypes {unlisted}" if unlisted or len(found) != len(data) else None


for path in sorted(folder.iterdir()):
    name, _, form = path.name.partition(".data.")
    if form not in ("json", "json-pretty", "csv", "yaml-list"):
        continue
    compared += 1
    source = (folder / f"{name}.data").read_text(encoding="utf-8")
    text = path.read_bytes().decode("utf-8")
    try:
        if form == "csv":
            wrong = check_csv(json.loads(source), text)
        elif form == "yaml-list":
            retyped = json.loads((folder / f"{name}.retyped").read_text(encoding="utf-8"))
            wrong = check_yaml(json.loads(source), text, retyped)
        else:
            wrong = None if load(text) == load(source) else text
    except Exception as error:  # whatever it is, the text did not read back
        wrong = repr(error)
    if wrong:
        print(f"{path.name}: {wrong}"[:2000])
print(f"compared {compared}")
