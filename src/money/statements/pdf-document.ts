import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import PDFDocument from 'pdfkit'

/** Letters of Europe and beyond, the same width for every digit, and free to be embedded. */
const fonts = { plain: fontOf('DejaVuSansCondensed'), bold: fontOf('DejaVuSansCondensed-Bold') }

function fontOf(name: string): Buffer {
  const path = import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)
  return readFileSync(fileURLToPath(path))
}

const colours = { ink: '#1a1f2b', faint: '#667085', rule: '#d0d5dd', wash: '#f4f6f9' } as const

/** The edges of what is written on, in points of an A4 page. */
export const LEFT = 48
export const RIGHT = 547

interface Style {
  readonly font?: keyof typeof fonts
  readonly size?: number
  readonly colour?: 'ink' | 'faint'
  /** The text ends at `x` instead of beginning there. */
  readonly endsThere?: true
  /** What is longer ends in an ellipsis. */
  readonly width?: number
}

interface DocumentInfo {
  readonly title: string
  readonly author: string
  readonly madeAt: Date
}

/** A document that is given away page by page. */
export class PdfDocument {
  readonly #document
  readonly #widths = { plain: new Map<string, number>(), bold: new Map<string, number>() }
  page = 1

  constructor({ title, author, madeAt }: DocumentInfo) {
    this.#document = new PDFDocument({
      ...{ size: 'A4', margin: 0, lang: 'en', displayTitle: true, autoFirstPage: false },
      info: { Title: title, Author: author, CreationDate: madeAt, ModDate: madeAt },
    })
    for (const [name, font] of Object.entries(fonts)) this.#document.registerFont(name, font)
    this.#document.addPage()
  }

  addPage(): void {
    this.#forgetWords()
    this.#document.addPage()
    this.page++
  }

  text(given: string, x: number, y: number, style: Style = {}): void {
    const { font = 'plain', size = 8.5, colour = 'ink', endsThere = false, width } = style
    const text = this.#fit(legible(given), font, size, width)
    if (text === '') return
    const from = endsThere ? x - this.#width(text, font, size) : x
    this.#document
      .font(font)
      .fontSize(size)
      .fillColor(colours[colour])
      .text(text, from, y, { lineBreak: false })
  }

  line(y: number, colour: 'ink' | 'rule' = 'rule'): void {
    this.#document
      .lineWidth(colour === 'ink' ? 0.8 : 0.4)
      .strokeColor(colours[colour])
      .moveTo(LEFT, y)
      .lineTo(RIGHT, y)
      .stroke()
  }

  band(y: number, height: number): void {
    this.#document.rect(LEFT, y, RIGHT - LEFT, height).fill(colours.wash)
  }

  /** What is ready to be sent. */
  *finishedBytes(): Generator<Uint8Array> {
    for (let piece = this.#document.read(); piece !== null; piece = this.#document.read()) yield piece
  }

  /** The rest of it. */
  end(): AsyncIterable<Uint8Array> {
    this.#document.end()
    return this.#document
  }

  #fit(text: string, font: keyof typeof fonts, size: number, width: number | undefined): string {
    if (width === undefined || this.#width(text, font, size) <= width) return text
    const letters = [...text]
    while (letters.length > 0 && this.#width(`${letters.join('')}…`, font, size) > width) letters.pop()
    return `${letters.join('').trimEnd()}…`
  }

  /**
   * A font keeps every word that it has laid out, for as long as the document is written. Without keeping any it would
   * take seven times as long.
   */
  #forgetWords(): void {
    for (const font of Object.keys(fonts)) {
      this.#document.font(font)
      Object.assign((this.#document as unknown as { _font: object })._font, {
        layoutCache: Object.create(null),
      })
    }
  }

  /** Letter by letter, each measured once: laying out whole lines to know how long they are takes half of the time. */
  #width(text: string, font: keyof typeof fonts, size: number): number {
    const known = this.#widths[font]
    let width = 0
    for (const letter of text) {
      let one = known.get(letter)
      if (one === undefined) {
        one = this.#document.font(font).fontSize(1_000).widthOfString(letter)
        known.set(letter, one)
      }
      width += one
    }
    return (width * size) / 1_000
  }
}

/** On one line, in one direction, and without what has no shape. */
const legible = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
