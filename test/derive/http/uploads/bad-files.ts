import { describe, expect, test } from '@jest/globals'
import { exchange, request } from '../../../support/http/raw.ts'
import { aPdf, form, owner, pdfFile, send, service, traces } from './service.ts'

const BOUNDARY = 'edge'
const TYPE = { 'content-type': `multipart/form-data; boundary=${BOUNDARY}` }
const JSON_TYPE = { 'content-type': 'application/json' }
const MIB = 1_048_576

const PNG = Buffer.from('89504e470d0a1a0a00000000', 'hex')

interface Part {
  readonly name: string
  readonly content: string | Uint8Array
  readonly file?: string
  readonly type?: string
  readonly more?: string
}

/** A form, byte by byte, as a hand-written client sends it. */
function raw(parts: readonly Part[], end = `--${BOUNDARY}--\r\n`): Buffer<ArrayBuffer> {
  const pieces = parts.flatMap(({ name, content, file, type, more = '' }) => [
    Buffer.from(
      `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"${file === undefined ? '' : `; filename="${file}"`}\r\n${type ? `Content-Type: ${type}\r\n` : ''}${more}\r\n`,
    ),
    Buffer.from(content as Uint8Array),
    Buffer.from('\r\n'),
  ])
  return Buffer.concat([...pieces, Buffer.from(end)])
}

const NO_BASE64 = 'paper: must be in Base64, with its padding and nothing else'

const title: Part = { name: 'title', content: 'A bill' }
const paper: Part = { name: 'paper', content: aPdf(500), file: 'a.pdf', type: 'application/pdf' }
const whole = raw([title, paper])

/** Sends a body that must be refused, and checks that nothing of it is stored. */
async function refused(body: Buffer<ArrayBuffer> | FormData | string, headers: Record<string, string> = {}) {
  const before = await traces()
  const { status, body: answer } = await send(body, headers)
  expect(await traces()).toEqual(before)
  return [status, answer.error]
}

test('a form that a client of one’s own writes is taken', async () => {
  expect((await send(whole, TYPE)).status).toBe(201)
})

describe('an upload is refused, and nothing of it is kept,', () => {
  test.each([
    ['with its end cut off', whole.subarray(0, -12), 'body: is no valid multipart/form-data: it is cut off'],
    ['cut off in the file', whole.subarray(0, 300), 'body: is no valid multipart/form-data: it is cut off'],
    [
      'cut off in the headers of a part',
      whole.subarray(0, 40),
      'body: is no valid multipart/form-data: it is cut off',
    ],
    ['with two files', raw([title, paper, paper]), 'paper: given more than once'],
    ['with a text twice', raw([title, title, paper]), 'title: given more than once'],
    [
      'with a name that the contract lacks',
      raw([title, paper, { name: 'other', content: '1' }]),
      'other: unknown field',
    ],
    [
      'with a file that the contract lacks',
      raw([title, paper, { ...paper, name: 'other' }]),
      'other: there is no such file',
    ],
    [
      'with a text for the file',
      raw([title, { name: 'paper', content: 'JVBERi0xLjQK' }]),
      'paper: must be a file: its part needs a file name',
    ],
    ['with a file for a text', raw([{ ...title, file: 'a.txt' }, paper]), 'title: there is no such file'],
    [
      'without the file',
      raw([title]),
      /^paper: must be a PDF, a JPEG, a PNG or a WebP: .*\(it is missing\)|^paper: must be a PDF/,
    ],
    ['with an empty file', raw([title, { ...paper, content: '' }]), 'paper: must not be empty'],
    [
      'with a PNG called a PDF',
      raw([title, { ...paper, content: PNG }]),
      'paper: is called application/pdf, and its first bytes say that it is image/png',
    ],
    [
      'with a PNG named a PDF',
      raw([title, { ...paper, content: PNG, type: 'application/octet-stream' }]),
      'paper: is called application/pdf, and its first bytes say that it is image/png',
    ],
    [
      'with a file of no kind',
      raw([title, { ...paper, content: '<html>' }]),
      'paper: must be a PDF, a JPEG, a PNG or a WebP, and its first bytes say that it is not',
    ],
    [
      'with a wrong number',
      raw([title, paper, { name: 'pages', content: '101' }]),
      'pages: must be at most 100 (it is 101)',
    ],
    [
      'with a text for a number',
      raw([title, paper, { name: 'pages', content: 'many' }]),
      'pages: must be a number (it is "many")',
    ],
    [
      'with JSON for a list that is none',
      raw([title, paper, { name: 'authors', content: '["Ada"' }]),
      'authors: must be a list (it is "[\\"Ada\\"")',
    ],
    [
      'with a part that is nested too deeply',
      raw([title, paper, { name: 'authors', content: '['.repeat(40) }]),
      'authors: body: nested more than 32 levels deep',
    ],
    [
      'with U+0000 in a text',
      raw([{ ...title, content: 'a\0b' }, paper]),
      'title: the character U+0000 cannot be used',
    ],
    [
      'with a name that objects have',
      raw([title, paper, { name: '__proto__', content: '1' }]),
      '__proto__: this name cannot be used',
    ],
    [
      'with 33 parts',
      raw([title, paper, ...Array.from({ length: 31 }, (_, n) => ({ name: `x${n}`, content: '' }))]),
      'body: more than 32 parts',
    ],
    [
      'with large headers of a part',
      raw([title, { ...paper, more: `X-More: ${'x'.repeat(3_000)}\r\n` }]),
      'body: a part has more than 2048 bytes of headers',
    ],
    [
      'with more text than any contract has',
      raw([{ ...title, content: 'a'.repeat(70_000) }, paper]),
      'body: its texts have more than 65536 bytes',
    ],
    [
      'with something before it',
      Buffer.concat([Buffer.from('hello\r\n'), whole]),
      'body: is no valid multipart/form-data: it does not begin with its boundary',
    ],
    [
      'with something behind it',
      Buffer.concat([whole, whole]),
      'body: is no valid multipart/form-data: something follows its end',
    ],
    [
      'with a part without a name',
      Buffer.from(`--${BOUNDARY}\r\nX: y\r\n\r\nz\r\n--${BOUNDARY}--\r\n`),
      'body: is no valid multipart/form-data: a part cannot be read',
    ],
    [
      'with a boundary that goes on',
      Buffer.from(`--${BOUNDARY}x\r\n\r\n`),
      'body: is no valid multipart/form-data: a boundary is not followed by a line',
    ],
  ])('%s', async (_, body, error) => {
    const [status, said] = await refused(Buffer.from(body), TYPE)
    expect(status).toBe(400)
    if (typeof error === 'string') expect(said).toBe(error)
    else expect(said).toMatch(error)
  })

  test.each([
    ['without a boundary', 'multipart/form-data; charset=utf-8', 400],
    ['with a boundary that is too long', `multipart/form-data; boundary=${'x'.repeat(71)}`, 400],
    ['with another boundary than it says', 'multipart/form-data; boundary=other', 400],
    ['as a form without files', 'application/x-www-form-urlencoded', 415],
    ['as another multipart', `multipart/mixed; boundary=${BOUNDARY}`, 415],
    ['as JSON in another charset', 'application/json; charset=latin1', 415],
  ])('%s', async (_, type, status) => {
    expect((await refused(whole, { 'content-type': type }))[0]).toBe(status)
  })

  test.each([
    ['with what is no Base64', '"%PDF"', NO_BASE64],
    [
      'with lines in Base64',
      '"JVBE\\nRi0xLjQK"',
      'paper: must be in Base64, with its padding and nothing else',
    ],
    ['with signs of the other alphabet', '"JVBERi0_LjQK"', NO_BASE64],
    ['with more behind the padding', '"JVBERi0xLg==JVBE"', NO_BASE64],
    [
      'with Base64 without padding',
      '"JVBERi0xLjQ"',
      'paper: must be in Base64, with its padding and nothing else',
    ],
    [
      'with a list for the file',
      '[1,2]',
      /^paper: must be a PDF, a JPEG, a PNG or a WebP: a part of multipart/,
    ],
    [
      'with a number for the file',
      '7',
      /^paper: must be a PDF, a JPEG, a PNG or a WebP: a part of multipart.* \(it is 7\)/,
    ],
    ['with nothing for the file', 'null', /^paper: must be a PDF/],
  ])('in JSON %s', async (_, value, error) => {
    const [status, said] = await refused(`{"title":"A bill","paper":${value}}`, JSON_TYPE)
    expect(status).toBe(400)
    expect(said).toEqual(typeof error === 'string' ? error : expect.stringMatching(error))
  })

  test('where the file is a byte larger than it may be', async () => {
    expect(await refused(form({ title: 'A bill', paper: pdfFile(10 * MIB + 1) }))).toEqual([
      400,
      'paper: must have at most 10 MiB',
    ])
    expect((await send(form({ title: 'A bill', paper: pdfFile(10 * MIB) }))).status).toBe(201)
  })

  test('where the body is larger than any that could be taken, before it is read', async () => {
    expect(await refused(form({ title: 'A bill', paper: pdfFile(11 * MIB) }))).toEqual([
      413,
      'The body is larger than 10.1 MiB, the most that this operation takes.',
    ])
    const head = request('POST', '/papers', {
      ...TYPE,
      Authorization: `Bearer ${owner.key}`,
      'Content-Length': String(10 ** 12),
    })
    expect((await exchange(service.url, head))[0]?.status).toBe(413)
  })

  test('is refused without a caller', async () => {
    const before = await traces()
    expect(
      (await send(form({ title: 'A bill', paper: pdfFile() }), {}, { ...owner, key: 'sk_test_nobody00' }))
        .status,
    ).toBe(401)
    expect(await traces()).toEqual(before)
  })

  test('where the handler refuses', async () => {
    expect(await refused(form({ title: 'taken', paper: pdfFile(7_000) }))).toEqual([
      409,
      'This title is taken.',
    ])
  })
})
