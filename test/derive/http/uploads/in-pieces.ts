import { hash } from 'node:crypto'
import { expect, test } from '@jest/globals'
import fc from 'fast-check'
import { readBody } from '../../../../src/derive/uploads/thread.ts'

const SHAPE = { files: ['paper'], json: ['pages'] }
const FORM = 'multipart/form-data; boundary=edge'

async function* cutAt(body: Buffer, places: readonly number[]): AsyncGenerator<Uint8Array> {
  const cuts = [0, ...places.map(place => place % (body.length + 1)).toSorted((a, b) => a - b), body.length]
  // Its own memory, which is overwritten afterwards, as a thread's memory is reused.
  for (const [n, begin] of cuts.slice(0, -1).entries()) {
    const piece = Uint8Array.from(body.subarray(begin, cuts[n + 1]))
    yield piece
    piece.fill(0)
  }
}

const places = fc.array(fc.nat(5_000), { maxLength: 12 })
/** Contents that look like boundaries and their surroundings. */
const content = fc
  .array(fc.constantFrom('\r', '\n', '\r\n--edge', '\r\n--edg', '--edge--', 'x', 'abc"\\', '\u00ff'), {
    maxLength: 60,
  })
  .map(parts => Buffer.from(parts.join('').replaceAll('\r\n--edge', '\r\n--edgy')))

const partOf = (head: string, value: Buffer): Buffer =>
  Buffer.concat([
    Buffer.from(`--edge\r\nContent-Disposition: form-data; name=${head}\r\n\r\n`),
    value,
    Buffer.from('\r\n'),
  ])

const formOf = (paper: Buffer): Buffer =>
  Buffer.concat([
    partOf('"title"', Buffer.from('A bill')),
    partOf('"paper"; filename="a.pdf"', paper),
    partOf('"pages"', Buffer.from('3')),
    Buffer.from('--edge--\r\n'),
  ])

const fact = (paper: Buffer) => ({ sha256: hash('sha256', paper), size: paper.length })

test('a form says the same wherever it is cut', async () => {
  await fc.assert(
    fc.asyncProperty(content, places, async (paper, cuts) => {
      const read = await readBody(cutAt(formOf(paper), cuts), FORM, SHAPE)
      expect(read).toMatchObject({ members: { title: 'A bill', pages: 3 }, files: { paper: fact(paper) } })
    }),
  )
})

test('JSON says the same wherever it is cut, and however its file is written', async () => {
  const ways = fc.constantFrom<(json: string) => string>(
    json => json,
    json => json.replaceAll('/', '\\/'),
    json => json.replaceAll('+', '\\u002B').replaceAll('=', '\\u003d'),
    json => json.replace('"paper"', '"p\\u0061per"'),
    json => JSON.stringify(JSON.parse(json), null, 2),
    json => `{"more":{"paper":"a","title":"\\"{"},${json.slice(1)}`,
  )
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 3_000 }), ways, places, async (bytes, written, cuts) => {
      const paper = Buffer.from(bytes)
      const json = written(JSON.stringify({ title: 'A "{bill}"', paper: paper.toString('base64') }))
      const read = await readBody(cutAt(Buffer.from(json), cuts), 'application/json', SHAPE)
      expect(read).toMatchObject({ members: { title: 'A "{bill}"' }, files: { paper: fact(paper) } })
    }),
  )
})

test('anything at all is read or refused, and never breaks the reader', async () => {
  const body = fc.array(
    fc.constantFrom('{', '}', '"paper"', ':', ',', '"', '\\', '--edge', '\r\n', 'QUJD', '=='),
  )
  const types = fc.constantFrom(FORM, 'application/json')
  await fc.assert(
    fc.asyncProperty(body, types, places, async (words, type, cuts) => {
      const text = Buffer.from(words.join(''))
      const whole = await readBody(cutAt(text, []), type, SHAPE)
      expect(await readBody(cutAt(text, cuts), type, SHAPE)).toEqual(whole)
    }),
  )
})

test.each([
  ['twice', '"JVBE","paper":"JVBE"', 'paper: given more than once'],
  ['twice, spelt in two ways', '"JVBE","p\\u0061per":"JVBE"', 'paper: given more than once'],
  ['that ends amid an escape', '"JVBE\\u00"', 'The body is not valid JSON.'],
])('JSON with a file %s is refused', async (_, paper, message) => {
  const body = Buffer.from(`{"title":"A bill","paper":${paper}}`)
  expect(await readBody(cutAt(body, []), 'application/json', SHAPE)).toMatchObject({ problem: { message } })
})
