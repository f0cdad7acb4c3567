import { createRequire } from 'node:module'
import type decode from 'jsqr'
import type { Page } from 'playwright-core'
import { pixelsOf } from './pixels.js'

/** The package is CommonJS, contrary to its types. */
const jsQR = createRequire(import.meta.url)('jsqr') as typeof decode.default

/** The bytes of the QR code in a screenshot, read as UTF-8; undefined if there is none. */
export async function qrCodeIn(screenshot: Buffer, blank: Page): Promise<string | undefined> {
  const { width, height, pixels } = await blank.evaluate(pixelsOf, screenshot.toString('base64'))
  const rgba = new Uint8ClampedArray(Buffer.from(pixels, 'base64'))
  const found = jsQR(rgba, width, height, { inversionAttempts: 'dontInvert' })
  return found ? Buffer.from(found.binaryData).toString('utf8') : undefined
}
