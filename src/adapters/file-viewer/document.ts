import { createRequire } from 'node:module'
import { dirname, join, sep } from 'node:path'
import { createCanvas, Path2D } from '@napi-rs/canvas'
import { getDocument, type PDFDocumentProxy, type PDFPageProxy } from 'pdfjs-dist/legacy/build/pdf.mjs'
import sharp from 'sharp'
import type { FileViewWarning } from '../../ports/viewer.ts'
import type { DocumentFacts, ViewerReply } from './messages.ts'
import { LARGE_PREVIEW_PX, renderPreviews } from './picture.ts'

const PAGES_READ = 5
const MOST_TEXT = 50_000

const folder = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'))
const inPackage = (name: string): string => join(folder, name) + sep

/** Nothing is fetched, no script of the document runs, and no font of this machine is used. */
const options = {
  verbosity: 0,
  enableXfa: false,
  useSystemFonts: false,
  disableFontFace: true,
  isEvalSupported: false,
  maxImageSize: 40_000_000,
  canvasMaxAreaInBytes: 64_000_000,
  standardFontDataUrl: inPackage('standard_fonts'),
  cMapUrl: inPackage('cmaps'),
  cMapPacked: true,
  wasmUrl: inPackage('wasm'),
  iccUrl: inPackage('iccs'),
} as const

/**
 * Opens a PDF, reads its first pages and draws the first one, within the limits for one document; a document
 * that exceeds them is `unseen`. Known facts are reported before each step.
 */
export const renderDocument = (
  bytes: Uint8Array,
  tell: (facts: DocumentFacts) => void,
): Promise<ViewerReply> => withinLimits(() => view(bytes, tell))

async function view(bytes: Uint8Array, tell: (facts: DocumentFacts) => void): Promise<ViewerReply> {
  const opening = getDocument({ data: Uint8Array.from(bytes), ...options })
  let facts: DocumentFacts = { pages: null, notes: [], text: null }
  const know = (more: Partial<DocumentFacts>) => {
    facts = { ...facts, ...more }
    tell(facts)
  }
  const document = await opening.promise.catch((error: Error) => error)
  if (document instanceof Error)
    return document.name === 'PasswordException'
      ? { unseen: { ...facts, notes: ['encrypted'] } }
      : { problem: 'is broken or truncated and cannot be opened as a PDF' }
  try {
    know({ pages: countOf(document.numPages) })
    know({ notes: await notesOf(document) })
    know({ text: await textOf(document) })
    const pictures = await draw(await document.getPage(1))
    return { view: { ...facts, ...pictures, isPlain: false } }
  } catch {
    return { unseen: facts }
  } finally {
    await opening.destroy()
  }
}

/** The number of pages comes from the document and may be wrong. */
const countOf = (said: number): number | null => (said > 0 && said < 1_000_000_000 ? said : null)

async function notesOf(document: PDFDocumentProxy): Promise<FileViewWarning[]> {
  const { info } = await document.getMetadata()
  const found: Record<FileViewWarning, boolean> = {
    encrypted: Boolean((info as Record<string, unknown>).EncryptFilterName),
    scripts: await document.hasJSActions(),
    attachments: ((await document.getAttachments())?.size ?? 0) > 0,
  }
  return (Object.keys(found) as FileViewWarning[]).filter(note => found[note])
}

async function textOf(document: PDFDocumentProxy): Promise<string | null> {
  let text = ''
  for (let number = 1; number <= Math.min(document.numPages, PAGES_READ); number++) {
    const { items } = await (await document.getPage(number)).getTextContent()
    for (const item of items) if ('str' in item) text += item.str + (item.hasEOL ? '\n' : '')
    text += '\n'
    if (text.length > MOST_TEXT || isOverLimit()) break
  }
  const readable = cleanText(text.slice(0, MOST_TEXT))
  return readable.trim() === '' ? null : readable
}

/** A font may map letters to control characters or lone surrogates: neither is text. */
const cleanText = (text: string): string => text.toWellFormed().replace(/[^\P{Cc}\n\t]/gu, '')

async function draw(page: PDFPageProxy) {
  const { width, height } = page.getViewport({ scale: 1 })
  const viewport = page.getViewport({ scale: LARGE_PREVIEW_PX / Math.max(width, height, 1) })
  const size = { width: sideOf(viewport.width), height: sideOf(viewport.height) }
  const canvas = createCanvas(size.width, size.height)
  await page.render({ canvas: canvas as never, viewport, background: '#fff' }).promise
  return renderPreviews(sharp(canvas.data(), { raw: { ...size, channels: 4 } }).removeAlpha())
}

const sideOf = (length: number): number => Math.min(LARGE_PREVIEW_PX, Math.max(1, Math.round(length)))

/** Strokes, fills, texts, pictures and path segments of one document. An honest page has some thousands. */
const MOST_DRAWN = 30_000
const MOST_CPU_MS = 1_500
const MEASURE_EVERY = 16

const OPERATORS = {
  context: ['stroke', 'fill', 'clip', 'fillRect', 'fillText', 'strokeText', 'drawImage', 'putImageData'],
  path: ['lineTo', 'bezierCurveTo', 'quadraticCurveTo', 'rect', 'arc', 'ellipse', 'addPath'],
} as const

let isBounded = false
let drawn = 0
let cpuAtStart = process.cpuUsage()

async function withinLimits<T>(work: () => Promise<T>): Promise<T> {
  isBounded = true
  drawn = 0
  cpuAtStart = process.cpuUsage()
  try {
    return await work()
  } finally {
    isBounded = false
  }
}

function isOverLimit(): boolean {
  const { user, system } = process.cpuUsage(cpuAtStart)
  return (user + system) / 1_000 > MOST_CPU_MS
}

/** Throws inside the drawing operation that exceeds the limit: pdf.js stops and reads no further. */
function count(): void {
  if (!isBounded) return
  drawn++
  if (drawn > MOST_DRAWN || (drawn % MEASURE_EVERY === 0 && isOverLimit()))
    throw new Error('the page is too expensive to draw')
}

type Draw = (...args: unknown[]) => unknown

function counted(prototype: object, names: readonly string[]): void {
  for (const name of names) {
    const draw: Draw = Reflect.get(prototype, name)
    Reflect.set(prototype, name, function (this: unknown, ...args: unknown[]) {
      count()
      return draw.apply(this, args)
    })
  }
}

counted(Object.getPrototypeOf(createCanvas(1, 1).getContext('2d')), OPERATORS.context)
counted(Path2D.prototype, OPERATORS.path)
