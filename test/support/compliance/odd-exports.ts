import { createHash } from 'node:crypto'

/** A seeded generator of numbers below a bound, the same on every machine. */
export function drawsOf(seed: number): (below: number) => number {
  let count = 0
  return below => createHash('sha256').update(`${seed}/${count++}`).digest().readUInt32BE() % below
}

type Draw = (below: number) => number
type Change = (text: string, draw: Draw) => string

const oneOf = <T>(some: readonly T[], draw: Draw): T => some[draw(some.length)] as T

/** JSON values, and texts that only resemble some. */
const ODD = [
  ...String.raw`null true false 0 -0 1 2 1.0 1e0 10e-1 0.1e1 -1 1.5 "" [] {} "1" 1e400 -1e400 1e-400 5e-324 1.23456e-320
9007199254740993 12345678901234567890 1.00000000000000000001 0.1000000000000000000 100000000000000000000000 01 .5 1. +1
NaN Infinity -Infinity undefined --1 0x1 "\ud800" "\ud83e\udd50" "\udd50\ud83e" "\ufffd" "\u0000" "\x41" 'a' "[forgotten]"
{"a":1,"a":2} {"__proto__":1} {"constructor":{"name":"x"}} [{"a":{"a":1}}] {"a":1,"\u0061":1} {12345678901234567890:1}
" "abc "abc\ [ {"a": {"keys":[]} {"keys":[null]} {"keys":[{"kty":"OKP","crv":"Ed25519","x":"A"}]}`.split(
    /\s/,
  ),
  ...['"\u2028"', '"\t"', '{"a":'.repeat(3_000), `1${'0'.repeat(3_000)}1`, `"${'a'.repeat(300)}`],
  ...[70, 100, 101].map(levels => '['.repeat(levels) + ']'.repeat(levels)),
]

const NAMES =
  'version type position entry leaf salts commitments from to hashes checkpoint __proto__ name address x'.split(
    ' ',
  )
const PLACES =
  '"data.list.00.name" "data.list.5" "data.list.length" "data.constructor.name" "" "runId" "agentId" "data" "__proto__"'.split(
    ' ',
  )

/** Replaces one match of a pattern, chosen by the draw. */
function replaceOne(text: string, pattern: RegExp, by: (found: string) => string, draw: Draw): string {
  const found = [...text.matchAll(pattern)]
  if (found.length === 0) return text
  const { 0: match, index } = oneOf(found, draw)
  return text.slice(0, index) + by(match) + text.slice(index + match.length)
}

const VALUE = /(?<=":)(?:"(?:[^"\\]|\\.){0,5000}"|-?[\d.e+-]+|null|true|false|\[\]|\{\})/g

const escaped = (text: string): string => `\\u${text.charCodeAt(0).toString(16).padStart(4, '0')}`

const LINE_CHANGES: readonly Change[] = [
  (text, draw) => replaceOne(text, VALUE, () => oneOf(ODD, draw), draw),
  (text, draw) =>
    replaceOne(text, /[{,](?=")/g, found => `${found}"${oneOf(NAMES, draw)}":${oneOf(ODD, draw)},`, draw),
  // A duplicate member: the forged one first, or last.
  (text, draw) =>
    replaceOne(
      text,
      /[{,]"\w+":(?:"[^"\\]*"|\d+|null)(?=[,}])/g,
      found => found + (found.startsWith('{') ? found.replace('{', ',') : found),
      draw,
    ),
  (text, draw) => replaceOne(text, /"\w+":/g, () => `"${oneOf(NAMES, draw)}":`, draw),
  (text, draw) => replaceOne(text, /[a-z]/g, escaped, draw),
  (text, draw) =>
    replaceOne(
      text,
      /[{}[\],:"\\]/g,
      () => oneOf(['', ' ', '""', ',', ':', '{', '}', '[', ']', '\\'], draw),
      draw,
    ),
  (text, draw) =>
    replaceOne(
      text,
      /[{}[\],:]/g,
      found => found + oneOf([' ', '\t', '\r', '\f', '\u00a0', '\ufeff', '\v'], draw),
      draw,
    ),
  (text, draw) =>
    replaceOne(text, /[\s\S]/g, () => String.fromCharCode(draw(oneOf([128, 0x3000, 0xd800], draw))), draw),
  (text, draw) => text.slice(0, draw(text.length)),
  (text, draw) =>
    replaceOne(text, /"data\.name"|"address"|"data\.list\.0\.name"/g, () => oneOf(PLACES, draw), draw),
  (text, draw) =>
    replaceOne(
      text,
      /\\n/g,
      () => oneOf(['', '\\n\\n', '\\r\\n', '\\n— x y\\n', '\\n— \\n', ' '], draw),
      draw,
    ),
  text => text,
]

const FILE_CHANGES: readonly ((file: Buffer, draw: Draw) => Buffer)[] = [
  file => Buffer.concat([Buffer.from('\ufeff'), file]),
  file => Buffer.concat([Buffer.from('\ufeff\ufeff'), file]),
  file => Buffer.concat([Buffer.from('\ufeff\n'), file]),
  file => Buffer.from(file.toString().replaceAll('\n', '\r\n')),
  file => Buffer.from(file.toString().replaceAll('\n', '\n\n')),
  file => Buffer.from(file.toString().replaceAll('\n', '\n\ufeff')),
  (file, draw) => file.subarray(0, draw(file.length)),
  (file, draw) => {
    const at = draw(file.length)
    return file.fill(oneOf([0xff, 0xc3, 0xed, 0x00], draw), at, at + 1)
  },
  (file, draw) => {
    const at = draw(file.length)
    return Buffer.concat([
      file.subarray(0, at),
      Buffer.of(oneOf([0x80, 0xff, 0xf0, 10, 13], draw)),
      file.subarray(at),
    ])
  },
]

/** An export with one to three defects, in its lines or their order. The same draws give the same export. */
export function oddExport(lines: readonly string[], draw: Draw): Buffer {
  let odd = [...lines]
  for (let changes = draw(3); changes >= 0; changes--) {
    const at = draw(odd.length)
    const line = odd[at] as string
    const way = draw(12)
    if (way === 0) odd = odd.toSpliced(at, 1)
    else if (way === 1) odd = odd.toSpliced(draw(odd.length), 0, line)
    else if (way === 2) odd = odd.toSpliced(at, 1).toSpliced(draw(odd.length), 0, line)
    else odd = odd.with(at, oneOf(LINE_CHANGES, draw)(line, draw))
    if (odd.length === 0) return Buffer.alloc(0)
  }
  const file = Buffer.from(`${odd.join('\n')}\n`)
  return draw(5) === 0 && file.length > 0 ? oneOf(FILE_CHANGES, draw)(file, draw) : file
}
