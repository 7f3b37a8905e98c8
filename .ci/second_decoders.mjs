// Reads the texts of a folder with JavaScript's own decoders and compares each with the data it was written from.
// Prints one line for every text that differs. Run by tests/peers/second_decoders.rs, in the folder of the installed packages.
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse } from 'yaml'
import { decode } from '@toon-format/toon'

const folder = process.env.LOUPE_TEXTS
const fence = text => /^# Result\n\n(`{3,})json\n([^]*)\n\1\n$/.exec(text)[2]

function expand(value) {
  if (Array.isArray(value)) return value.map(expand)
  if (value === null || typeof value !== 'object') return value
  const keys = Object.keys(value)
  if (keys.length === 2 && keys[0] === 'columns' && keys[1] === 'rows') {
    return value.rows.map(row => Object.fromEntries(row.map((cell, at) => [value.columns[at], expand(cell)])))
  }
  return Object.fromEntries(keys.map(key => [key, expand(value[key])]))
}

const decoders = {
  'json': JSON.parse,
  'json-pretty': JSON.parse,
  'json-fenced': text => JSON.parse(fence(text)),
  'json-table': text => expand(JSON.parse(text)),
  'yaml': text => parse(text, { schema: 'core', version: '1.2' }),
  'toon': text => decode(text),
}

// -0 is 0, as everywhere in JSON.
const plain = value => JSON.parse(JSON.stringify(value, (_, inner) => (Object.is(inner, -0) ? 0 : inner)))

let compared = 0
for (const name of readdirSync(folder)) {
  const [, id, format] = /^(.*)\.data\.(.*)$/.exec(name) ?? []
  if (!decoders[format]) continue
  const data = JSON.parse(readFileSync(join(folder, `${id}.data`), 'utf8'))
  compared += 1
  try {
    const back = decoders[format](readFileSync(join(folder, name), 'utf8'))
    if (!isDeepStrictEqual(plain(back), plain(data))) console.log(`${name}: ${JSON.stringify(back)}`.slice(0, 2000))
  } catch (error) {
    console.log(`${name}: ${error.message}`)
  }
}
console.log(`compared ${compared}`)
