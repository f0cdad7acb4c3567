import { deflateSync } from 'node:zlib'
import { describe, expect, test } from '@jest/globals'
import { bestOf } from '../../support/longest-turn.ts'
import { until } from '../../support/until.ts'
import { aBill, aPayer, aPdf, aPhoto, send, sent, service, thumbnail } from './service.ts'

const SCRIPT = Buffer.from('<script>alert(1)</script><?php system("id"); ?>PK\x03\x04')

/** Without a checksum if no reader gets that far. */
function chunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  return Buffer.concat([length, Buffer.from(type), data, Buffer.alloc(4)])
}

/** A PNG that claims to have a thousand million pixels. */
function hugePng(): Buffer {
  const head = Buffer.alloc(13)
  head.writeUInt32BE(31_623, 0)
  head.writeUInt32BE(31_623, 4)
  head.set([1, 0], 8)
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc(4_000)))])
}

/** A decompression bomb in the frame of a WebP. */
function zerosAsWebp(): Buffer {
  const zeros = deflateSync(Buffer.alloc(4_000_000))
  const head = Buffer.from('RIFF\0\0\0\0WEBPVP8 ')
  head.writeUInt32LE(zeros.length + 12, 4)
  return Buffer.concat([head, zeros])
}

function rawPdf(objects: readonly string[]): Buffer {
  const body = objects.map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`).join('')
  return Buffer.from(`%PDF-1.7\n${body}trailer << /Root 1 0 R /Size ${objects.length + 1} >>\n%%EOF\n`)
}

const stream = (content: string): string => `<< /Length ${content.length} >>\nstream\n${content}\nendstream`

const PAGE =
  '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>'
const aRawPdf = (content: string, ...more: string[]) =>
  rawPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    PAGE,
    stream(content),
    ...more,
  ])

/** A one-page PDF that claims this many pages. */
const claiming = (count: number): Buffer =>
  rawPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [3 0 R] /Count ${count} >>`,
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>',
  ])

/** Its letters map to characters that PostgreSQL cannot store: NUL, and a lone surrogate. */
const strangeLetters = () =>
  aRawPdf(
    'BT /F 24 Tf 10 100 Td (abcxyz) Tj ET',
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /ToUnicode 6 0 R >>',
    stream(
      '/CIDInit /ProcSet findresource begin 12 dict begin begincmap 1 begincodespacerange <00> <FF> endcodespacerange 3 beginbfchar <61> <0000> <62> <D800> <63> <0041> endbfchar endcmap end end',
    ),
  )

const manyPages = (count: number): Buffer => {
  const kids = Array.from({ length: count }, (_, at) => `${at + 3} 0 R`).join(' ')
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] >>'
  const pages = Array.from({ length: count }, () => page)
  return rawPdf([
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${count} >>`,
    ...pages,
  ])
}

/** A glyph of this font draws itself recursively. */
const endlessFont = () =>
  aRawPdf(
    'BT /F 24 Tf 10 100 Td (aaaaaaaaaaaaaaaaaaaaaaaa) Tj ET',
    '<< /Type /Font /Subtype /Type3 /FontBBox [0 0 1000 1000] /FontMatrix [0.001 0 0 0.001 0 0] /FirstChar 97 /LastChar 97 /Widths [1000] /Encoding << /Type /Encoding /Differences [97 /a] >> /CharProcs << /a 6 0 R >> /Resources << /Font << /F 5 0 R >> >> >>',
    stream(`1000 0 0 0 1000 1000 d1 ${'BT /F 900 Tf (aaaaaaaa) Tj ET '.repeat(40)}`),
  )

/** Takes longer than five seconds to draw. */
const endlessPage = () =>
  aRawPdf('0 0 200 200 re f '.repeat(280_000), '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>')

/** Each takes a second or two to draw; there are so many that another owner's file must not queue behind them. */
const [CURVES, EXPENSIVE] = [400_000, 12]

/** Far more curves than a receipt has, in a small file. */
function manyCurves(): Buffer {
  const curves = Array.from({ length: CURVES }, (_, at) => `${at % 99} 10 m 9 8 30 40 50 ${at % 77} c S\n`)
  const content = deflateSync(curves.join('')).toString('latin1')
  const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents 4 0 R >>'
  const file = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    page,
    `<< /Filter /FlateDecode /Length ${content.length} >>\nstream\n${content}\nendstream`,
  ].map((object, at) => `${at + 1} 0 obj\n${object}\nendobj\n`)
  return Buffer.from(`%PDF-1.7\n${file.join('')}trailer << /Root 1 0 R /Size 5 >>\n%%EOF\n`, 'latin1')
}

describe('a file that is expensive to draw', () => {
  test('delays the files of other owners by one of it, and those of its owner by all', async () => {
    const [{ client }, other] = await Promise.all([aPayer(), aPayer()])
    const file = manyCurves()
    let isAnswered = 0
    const expensive = Array.from({ length: EXPENSIVE }, async () => {
      const { status } = await send(client, file)
      isAnswered++
      return status
    })
    await until('the first was looked at', () => isAnswered > 0)
    expect(await sent(other.client, await aBill('25.00'))).toMatchObject({ isPlain: false })
    expect(isAnswered).toBeLessThan(EXPENSIVE)
    // On a busy machine all of them together exceed the limit of one owner.
    for (const status of await Promise.all(expensive)) expect([201, 429]).toContain(status)
  })
})

describe('a file that is refused', () => {
  test.each<[string, () => Buffer | Promise<Buffer>, RegExp]>([
    [
      'an SVG that is called a PNG',
      () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'),
      /^file: must be a PDF/,
    ],
    ['a page of the web', () => Buffer.from('<!doctype html><script>'), /^file: must be a PDF/],
    [
      'the first bytes of a PNG before an SVG',
      () => Buffer.from('\x89PNG\r\n\x1a\n<svg/>', 'latin1'),
      /^file: .*broken or truncated/,
    ],
    [
      'a photograph that is cut off',
      async () => (await aPhoto().jpeg().toBuffer()).subarray(0, 2_000),
      /^file: .*broken or truncated/,
    ],
    ['a picture of 10⁹ pixels', hugePng, /^file: has 31623 × 31623 pixels/],
    ['41 million pixels', () => aPhoto(8_200, 5_000).png().toBuffer(), /^file: has 8200 × 5000 pixels/],
    ['zeros as a WebP', zerosAsWebp, /^file: .*broken or truncated/],
    ['a PDF without a page', () => Buffer.from('%PDF-1.4\n'), /^file: .*cannot be opened as a PDF/],
  ])('%s is a 400 that says what, and nothing is kept', async (_, make, error) => {
    const { client, ownerId } = await aPayer()
    expect(await send(client, await make())).toMatchObject({
      status: 400,
      error: expect.stringMatching(error),
    })
    for (const table of ['receipts', 'stored_files'])
      expect(await service.sql(`select from ${table} where owner_id = $1`, [ownerId])).toEqual([])
  })
})

describe('a file that is kept, and shown without harm', () => {
  test.each<[string, () => Promise<Buffer>]>([
    [
      'a PNG with a script and an archive behind it',
      async () => Buffer.concat([await aPhoto().png().toBuffer(), SCRIPT]),
    ],
    [
      'a JPEG with a page of the web in its comment',
      () =>
        aPhoto()
          .withExif({ IFD0: { ImageDescription: SCRIPT.toString('latin1') } })
          .jpeg()
          .toBuffer(),
    ],
    [
      'a JPEG that is a PDF as well',
      async () => Buffer.concat([await aPhoto().jpeg().toBuffer(), await aPdf(['Two formats'])]),
    ],
    [
      'a PDF that is a page of the web as well',
      async () => Buffer.concat([await aPdf(['Two formats']), SCRIPT]),
    ],
  ])('%s', async (_, make) => {
    const { client, key } = await aPayer()
    const { id } = await sent(client, await make())
    const { seen, bytes } = await thumbnail(key, id, 1200)
    expect(seen.format).toBe('webp')
    expect(bytes.includes('script')).toBe(false)
  })

  /** Each uses up the five seconds of a file. */
  const takesLong: [string, () => Promise<Buffer>, object][] = [
    ['a page that never ends', async () => endlessPage(), { pages: 1, isPlain: true }],
  ]

  test.each<[string, () => Promise<Buffer>, object]>([
    ['JavaScript', () => aPdf(['A bill'], {}, withScript), { notes: ['scripts'], pages: 1, isPlain: false }],
    [
      'something attached',
      () => aPdf(['A bill'], {}, document => document.file(SCRIPT, { name: 'a.exe' })),
      { notes: ['attachments'], isPlain: false },
    ],
    [
      'a password',
      () => aPdf(['A bill'], { userPassword: 'secret', pdfVersion: '1.7' }),
      { notes: ['encrypted'], pages: null, isPlain: true, status: 'unread' },
    ],
    [
      'rights that are encrypted',
      () => aPdf(['A bill'], { ownerPassword: 'secret', pdfVersion: '1.7' }),
      { notes: ['encrypted'], pages: 1, isPlain: false },
    ],
    ['ten thousand pages', async () => manyPages(10_000), { pages: 10_000, notes: [] }],
    ['more pages than can be counted', async () => claiming(99_999_999_999), {}],
    ['fewer pages than none', async () => claiming(-5), { pages: null }],
    ['letters that no database keeps', async () => strangeLetters(), { pages: 1, facts: { total: null } }],
    ['no page at all', async () => claiming(0), {}],
    ['a font that never ends', async () => endlessFont(), { pages: 1 }],
    ...takesLong,
  ])('a PDF with %s', async (_, make, told) => {
    const file = await make()
    const longest = await bestOf(200, async () => {
      const { client, key } = await aPayer()
      const answer = await sent(client, file)
      expect(answer).toMatchObject(told)
      expect((await thumbnail(key, answer.id)).seen.format).toBe('webp')
    })
    // The API answers in the meantime.
    expect(longest).toBeLessThan(200)
  })
})

/** A script that a PDF reader would run when it opens the document. */
function withScript(document: PDFKit.PDFDocument): void {
  const action = document.ref({ S: 'JavaScript', JS: new String('app.alert("hello")') } as never)
  action.end(undefined as never)
  ;(document as unknown as { _root: { data: Record<string, unknown> } })._root.data.OpenAction = action
}
