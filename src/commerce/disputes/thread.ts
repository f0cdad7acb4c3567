import { createHash } from 'node:crypto'
import sharp from 'sharp'
import type { BundleInput } from './bundle/input.ts'
import { BundleLayout } from './bundle/layout.ts'

/** Loaded by threads, which lay out bundles. Nothing it imports may reach a database. */
export async function bundlePdf(
  input: BundleInput,
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

/** A PDF takes no WebP. The pictures were made anew before: small, and nothing in them but what is to be seen. */
const printed = (bytes: Uint8Array): Promise<Uint8Array> =>
  sharp(bytes).flatten({ background: '#fff' }).jpeg({ quality: 85 }).toBuffer()
