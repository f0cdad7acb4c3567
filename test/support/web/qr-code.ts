import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

type Decode = typeof import('jsqr').default

/** The package is CommonJS, and its types say otherwise. */
const decode = createRequire(import.meta.url)('jsqr') as Decode | { default: Decode }
const jsQR = 'default' in decode ? decode.default : decode

interface Picture {
  readonly width: number
  readonly height: number
  readonly pixels: string
}

/** Runs inside a page without a policy: the pixels of a PNG, as RGBA in Base64. */
async function pixelsOf(png: string): Promise<Picture> {
  const bytes = Uint8Array.from(atob(png), character => character.charCodeAt(0))
  const bitmap = await createImageBitmap(new Blob([bytes]))
  const { width, height } = bitmap
  const brush = new OffscreenCanvas(width, height).getContext('2d')
  brush?.drawImage(bitmap, 0, 0)
  const rgba = brush?.getImageData(0, 0, width, height).data ?? []
  let text = ''
  for (const value of rgba) text += String.fromCharCode(value)
  return { width, height, pixels: btoa(text) }
}

/** The bytes of the QR code in a screenshot, read as UTF-8; undefined where there is none. */
export async function qrCodeIn(screenshot: Buffer, blank: Page): Promise<string | undefined> {
  const { width, height, pixels } = await blank.evaluate(pixelsOf, screenshot.toString('base64'))
  const rgba = new Uint8ClampedArray(Buffer.from(pixels, 'base64'))
  const found = jsQR(rgba, width, height, { inversionAttempts: 'dontInvert' })
  return found ? Buffer.from(found.binaryData).toString('utf8') : undefined
}
