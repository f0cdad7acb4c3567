import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import PDFDocument from 'pdfkit'

/** DejaVu covers the letters of Europe and beyond, has digits of equal width, and may be embedded freely. */
const fonts = { plain: fontOf('DejaVuSansCondensed'), bold: fontOf('DejaVuSansCondensed-Bold') }

function fontOf(name: string): Buffer {
  const path = import.meta.resolve(`dejavu-fonts-ttf/ttf/${name}.ttf`)
  return readFileSync(fileURLToPath(path))
}

const colours = { ink: '#1a1f2b', faint: '#667085', rule: '#d0d5dd', wash: '#f4f6f9' } as const

export const PAGE_LEFT_PT = 48
export const PAGE_RIGHT_PT = 547

interface Style {
  readonly font?: keyof typeof fonts
  readonly size?: number
  readonly colour?: 'ink' | 'faint'
  readonly alignRight?: true
  readonly width?: number
}

interface DocumentInfo {
  readonly title: string
  readonly author: string
  readonly madeAt: Date
}

export class PdfDocument {
  readonly #document
  readonly #widths = { plain: new Map<string, number>(), bold: new Map<string, number>() }
  page = 1

  constructor({ title, author, madeAt }: DocumentInfo) {
    this.#document = new PDFDocument({
      size: 'A4',
      margin: 0,
      lang: 'en',
      displayTitle: true,
      autoFirstPage: false,
      info: { Title: title, Author: author, CreationDate: madeAt, ModDate: madeAt },
    })
    for (const [name, font] of Object.entries(fonts)) this.#document.registerFont(name, font)
    this.#document.addPage()
  }

  addPage(): void {
    this.#clearLayoutCaches()
    this.#document.addPage()
    this.page++
  }

  text(content: string, x: number, y: number, style: Style = {}): void {
    const { font = 'plain', size = 8.5, colour = 'ink', alignRight = false, width } = style
    const text = this.#fit(printable(content), font, size, width)
    if (text === '') return
    const left = alignRight ? x - this.#width(text, font, size) : x
    this.#document
      .font(font)
      .fontSize(size)
      .fillColor(colours[colour])
      .text(text, left, y, { lineBreak: false })
  }

  linesOf(content: string, width: number, { font = 'plain', size = 8.5 }: Style = {}): string[] {
    return content.split('\n').flatMap(paragraph => this.#wrap(printable(paragraph), width, font, size))
  }

  picture(bytes: Uint8Array, x: number, y: number, frame: { width: number; height: number }): void {
    const fit: [number, number] = [frame.width, frame.height]
    this.#document.image(Buffer.from(bytes), x, y, { fit })
  }

  line(y: number, colour: 'ink' | 'rule' = 'rule'): void {
    this.#document
      .lineWidth(colour === 'ink' ? 0.8 : 0.4)
      .strokeColor(colours[colour])
      .moveTo(PAGE_LEFT_PT, y)
      .lineTo(PAGE_RIGHT_PT, y)
      .stroke()
  }

  band(y: number, height: number): void {
    this.#document.rect(PAGE_LEFT_PT, y, PAGE_RIGHT_PT - PAGE_LEFT_PT, height).fill(colours.wash)
  }

  *finishedBytes(): Generator<Uint8Array> {
    for (let piece = this.#document.read(); piece !== null; piece = this.#document.read()) yield piece
  }

  end(): AsyncIterable<Uint8Array> {
    this.#document.end()
    return this.#document
  }

  #wrap(text: string, width: number, font: keyof typeof fonts, size: number): string[] {
    const lines: string[] = []
    let line = ''
    for (const word of text.split(' ').flatMap(word => this.#pieces(word, width, font, size))) {
      const longer = line === '' ? word : `${line} ${word}`
      if (line !== '' && this.#width(longer, font, size) > width) {
        lines.push(line)
        line = word
      } else line = longer
    }
    return [...lines, line]
  }

  #pieces(word: string, width: number, font: keyof typeof fonts, size: number): string[] {
    if (this.#width(word, font, size) <= width) return [word]
    const pieces: string[] = []
    let piece = ''
    for (const letter of word) {
      if (piece !== '' && this.#width(piece + letter, font, size) > width) {
        pieces.push(piece)
        piece = ''
      }
      piece += letter
    }
    return [...pieces, piece]
  }

  #fit(text: string, font: keyof typeof fonts, size: number, width: number | undefined): string {
    if (width === undefined || this.#width(text, font, size) <= width) return text
    const letters = [...text]
    while (letters.length > 0 && this.#width(`${letters.join('')}…`, font, size) > width) letters.pop()
    return `${letters.join('').trimEnd()}…`
  }

  /**
   * Empties the fonts' caches of laid-out words, which would grow with the document. It does so once a page,
   * since the layout takes seven times as long without any cache.
   */
  #clearLayoutCaches(): void {
    for (const font of Object.keys(fonts)) {
      this.#document.font(font)
      Object.assign((this.#document as unknown as { _font: object })._font, {
        layoutCache: Object.create(null),
      })
    }
  }

  /** Sums cached widths of letters: laying out whole lines to measure them would double the time. */
  #width(text: string, font: keyof typeof fonts, size: number): number {
    const widths = this.#widths[font]
    let width = 0
    for (const letter of text) {
      let letterWidth = widths.get(letter)
      if (letterWidth === undefined) {
        letterWidth = this.#document.font(font).fontSize(1_000).widthOfString(letter)
        widths.set(letter, letterWidth)
      }
      width += letterWidth
    }
    return (width * size) / 1_000
  }
}

/** Control characters have no glyph or change the direction of writing. */
const printable = (text: string): string => text.replace(/[\s\p{Cc}\p{Cf}]+/gu, ' ').trim()
