import type { Mode } from '../../../kernel/contract/actor.ts'
import type { Ports } from '../../../kernel/contract/ports.ts'
import { readFile } from '../../../kernel/database/stored-files.ts'
import type { Looked } from '../../../ports/viewer.ts'
import type { FileKind } from '../../../values/file-kind.ts'
import type { bundlePdf } from '../thread.ts'
import type { BundleInput, Picture } from './input.ts'

interface Owner {
  readonly ownerId: string
  readonly mode: Mode
}

type Rendering = Pick<Ports, 'threads' | 'files' | 'viewer'>

/** Lays a bundle out in a thread: a long one would hold the event loop. What cannot be shown is named all the same. */
export async function renderBundle(
  input: BundleInput,
  owner: Owner,
  ports: Rendering,
): Promise<Awaited<ReturnType<typeof bundlePdf>>> {
  const pictures: { sha256: string; bytes: Uint8Array }[] = []
  for (const picture of input.pictures) {
    const bytes = await viewOf(picture, owner, ports)
    if (bytes) pictures.push({ sha256: picture.sha256, bytes })
  }
  const module = new URL('../thread.ts', import.meta.url)
  const task = { module, name: 'bundlePdf', owner: owner.ownerId }
  return ports.threads.run<typeof bundlePdf>(task, input, pictures)
}

/** The picture that was made anew of a file; where none was, it is made now, where the file can do no harm. */
async function viewOf(
  { sha256, viewSha256, kind }: Picture,
  owner: Owner,
  { threads, files, viewer }: Rendering,
): Promise<Uint8Array | null> {
  const content = await readFile(files, owner, viewSha256 ?? sha256)
  if (typeof content === 'string') return null
  if (viewSha256 !== null) return content
  const looked = await viewer.look(owner.ownerId, kind, ({ module, name }) =>
    threads.run<(bytes: Uint8Array, kind: FileKind) => Promise<Looked>>(
      { module: new URL(module), name, owner: owner.ownerId },
      content,
      kind,
    ),
  )
  return 'large' in looked ? looked.large : null
}
