import sharp, { type Sharp } from 'sharp'
import type { FilePreview } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'
import type { ViewerReply } from './messages.ts'

/** A photograph of a large telephone; this bounds the memory for a picture. */
const MOST_PIXELS = 40_000_000
const SMALL = 320
export const LARGE_PREVIEW_PX = 1_200

sharp.cache(false)
sharp.concurrency(1)

const formats: Readonly<Partial<Record<FileKind, string>>> = {
  'image/jpeg': 'jpeg',
  'image/png': 'png',
  'image/webp': 'webp',
}

const within = (side: number) =>
  ({ width: side, height: side, fit: 'inside', withoutEnlargement: true }) as const

export async function renderPreviews(seen: Sharp): Promise<Pick<FilePreview, 'small' | 'large'>> {
  const { data, info } = await seen
    .resize(within(LARGE_PREVIEW_PX))
    .raw()
    .toBuffer({ resolveWithObject: true })
  const { width, height, channels } = info
  const again = () => sharp(data, { raw: { width, height, channels } })
  const large = await again().webp().toBuffer()
  const small = await again().resize(within(SMALL)).webp().toBuffer()
  return { small, large }
}

/** Decodes the whole picture: refuses one that is broken, truncated, too large or of another type than named. */
export async function decodeImage(bytes: Uint8Array, kind: FileKind): Promise<ViewerReply> {
  const options = { failOn: 'warning', limitInputPixels: false } as const
  try {
    const { format, width = 0, height = 0 } = await sharp(bytes, options).metadata()
    if (format !== formats[kind]) return { problem: `is declared as ${kind} and cannot be read as that` }
    if (width * height > MOST_PIXELS) return tooLarge(width, height)
    const pictures = await renderPreviews(sharp(bytes, options).autoOrient().toColourspace('srgb'))
    return { view: { ...pictures, isPlain: false, pages: null, notes: [], text: null } }
  } catch {
    return { problem: 'is broken or truncated and cannot be decoded' }
  }
}

const tooLarge = (width: number, height: number): ViewerReply => ({
  problem: `has ${width} × ${height} pixels: at most ${MOST_PIXELS / 1_000_000} million are accepted`,
})
