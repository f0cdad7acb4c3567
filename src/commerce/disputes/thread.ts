import { createHash } from 'node:crypto'
import sharp from 'sharp'
import { PAGE_LEFT_PT, PAGE_RIGHT_PT, PdfDocument } from '../../money/statements/thread.ts'
import type { FileKind } from '../../values/file-kind.ts'

/** In the order of its pages. Plain JSON, so that it survives a crash and can be sent to a thread. */
export interface DisputeBundleInput {
  readonly title: string
  readonly subtitle: string
  readonly author: string
  readonly foot: string
  /** The instant of the last entry. The document contains no other time, so that equal facts give equal bytes. */
  readonly madeAt: string
  readonly sections: readonly BundleSection[]
  readonly pictures: readonly BundlePicture[]
}

export interface BundleSection {
  readonly title: string
  readonly blocks: readonly BundleBlock[]
}

export type BundleBlock =
  | { readonly kind: 'facts'; readonly rows: readonly (readonly [name: string, value: string])[] }
  | {
      readonly kind: 'table'
      readonly columns: readonly Column[]
      readonly rows: readonly (readonly string[])[]
    }
  | { readonly kind: 'text'; readonly text: string; readonly isSmall?: true }

interface Column {
  readonly name: string
  readonly share: number
}

export interface BundlePicture {
  readonly title: string
  readonly sha256: string
  readonly kind: FileKind
  readonly viewSha256: string | null
}

/** Runs in threads. Its imports must not reach a database. */
export async function bundlePdf(
  input: DisputeBundleInput,
  pictures: readonly { readonly sha256: string; readonly bytes: Uint8Array }[],
): Promise<{ pdf: Uint8Array; sha256: string }> {
  const bySha256 = new Map<string, Uint8Array>()
  for (const { sha256, bytes } of pictures) bySha256.set(sha256, await printed(bytes))
  const counted = new BundleLayout(input, bySha256, null).write()
  const { document } = new BundleLayout(input, bySha256, counted.document.page).write()
  const hash = createHash('sha256')
  const pieces: Uint8Array[] = []
  for await (const piece of document.end()) {
    hash.update(piece)
    pieces.push(piece)
  }
  return { pdf: Buffer.concat(pieces), sha256: hash.digest('hex') }
}

/** A PDF cannot contain WebP. The re-encoded pictures are small and contain only what is visible. */
const printed = (bytes: Uint8Array): Promise<Uint8Array> =>
  sharp(bytes).flatten({ background: '#fff' }).jpeg({ quality: 85 }).toBuffer()

const TOP = 56
const BOTTOM = 786
const FOOT = 806
const LINE = 12
const WIDTH = PAGE_RIGHT_PT - PAGE_LEFT_PT
const NAME_WIDTH = 118

const plain = { size: 8.5 } as const
const faint = { size: 8.5, colour: 'faint' } as const
const small = { size: 7.5, colour: 'faint' } as const

/** Each page shows the number of pages, so the layout runs once in advance to count them. */
class BundleLayout {
  readonly #input: DisputeBundleInput
  readonly #pages: number | null
  readonly #pictures: ReadonlyMap<string, Uint8Array>
  readonly document: PdfDocument
  #y = TOP

  constructor(input: DisputeBundleInput, pictures: ReadonlyMap<string, Uint8Array>, pages: number | null) {
    const { title, author, madeAt } = input
    this.#input = input
    this.#pages = pages
    this.#pictures = pictures
    this.document = new PdfDocument({ title, author, madeAt: new Date(madeAt) })
    this.#foot()
  }

  write(): this {
    const { title, subtitle, sections, pictures } = this.#input
    this.document.text(title, PAGE_LEFT_PT, 48, { font: 'bold', size: 20, width: WIDTH })
    this.document.text(subtitle, PAGE_LEFT_PT, 76, { size: 12, colour: 'faint', width: WIDTH })
    this.document.line(102, 'ink')
    this.#y = 120
    for (const section of sections) this.#section(section)
    for (const picture of pictures) this.#picture(picture)
    return this
  }

  #need(height: number): void {
    if (this.#y + height > BOTTOM) this.#nextPage()
  }

  #nextPage(): void {
    this.document.addPage()
    this.#y = TOP
    this.#foot()
  }

  #foot(): void {
    const of = this.#pages === null ? '' : ` of ${this.#pages}`
    this.document.text(this.#input.foot, PAGE_LEFT_PT, FOOT, { ...small, width: WIDTH - 90 })
    this.document.text(`Page ${this.document.page}${of}`, PAGE_RIGHT_PT, FOOT, { ...small, alignRight: true })
  }

  #section({ title, blocks }: BundleSection): void {
    this.#need(70)
    this.document.text(title, PAGE_LEFT_PT, this.#y, { font: 'bold', size: 13 })
    this.#y += 22
    for (const block of blocks) this.#block(block)
    this.#y += 16
  }

  #block(block: BundleBlock): void {
    if (block.kind === 'facts') for (const [name, value] of block.rows) this.#fact(name, value)
    if (block.kind === 'text') this.#text(block.text, block.isSmall ? small : plain)
    if (block.kind === 'table') this.#table(block.columns, block.rows)
    this.#y += 6
  }

  #fact(name: string, value: string): void {
    const lines = this.document.linesOf(value, WIDTH - NAME_WIDTH, plain)
    for (const [index, line] of lines.entries()) {
      this.#need(LINE)
      if (index === 0) this.document.text(name, PAGE_LEFT_PT, this.#y, faint)
      this.document.text(line, PAGE_LEFT_PT + NAME_WIDTH, this.#y, plain)
      this.#y += LINE
    }
    this.#y += 2
  }

  #text(text: string, style: typeof plain | typeof small): void {
    for (const line of this.document.linesOf(text, WIDTH, style)) {
      this.#need(LINE)
      this.document.text(line, PAGE_LEFT_PT, this.#y, style)
      this.#y += LINE
    }
  }

  #table(columns: readonly Column[], rows: readonly (readonly string[])[]): void {
    const lefts = columns.map((_, index) => PAGE_LEFT_PT + WIDTH * sum(columns.slice(0, index)))
    this.#tableHead(columns, lefts)
    for (const row of rows) {
      const cells = columns.map(({ share }, index) =>
        this.document.linesOf(row[index] ?? '', WIDTH * share - 8, { size: 8 }),
      )
      const height = Math.max(...cells.map(lines => lines.length))
      for (let line = 0; line < height; line++) {
        if (this.#y + LINE > BOTTOM) {
          this.#nextPage()
          this.#tableHead(columns, lefts)
        }
        for (const [index, lines] of cells.entries())
          this.document.text(lines[line] ?? '', lefts[index] ?? PAGE_LEFT_PT, this.#y, { size: 8 })
        this.#y += LINE
      }
      this.document.line(this.#y)
      this.#y += 4
    }
  }

  #tableHead(columns: readonly Column[], lefts: readonly number[]): void {
    this.#need(3 * LINE)
    for (const [index, { name }] of columns.entries())
      this.document.text(name, lefts[index] ?? PAGE_LEFT_PT, this.#y, { font: 'bold', size: 8 })
    this.#y += 13
    this.document.line(this.#y, 'ink')
    this.#y += 6
  }

  #picture({ title, sha256 }: BundlePicture): void {
    const bytes = this.#pictures.get(sha256)
    if (!bytes) return
    this.#nextPage()
    this.document.text(title, PAGE_LEFT_PT, this.#y, { font: 'bold', size: 11, width: WIDTH })
    this.document.text(`SHA-256 ${sha256}`, PAGE_LEFT_PT, this.#y + 18, small)
    this.#y += 40
    this.document.picture(bytes, PAGE_LEFT_PT, this.#y, { width: WIDTH, height: BOTTOM - this.#y })
  }
}

const sum = (columns: readonly Column[]): number => columns.reduce((total, { share }) => total + share, 0)
