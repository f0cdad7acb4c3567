import { fileURLToPath } from 'node:url'
import type { FilePreviewResult } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'
import { ViewerProcess } from './viewer-process.ts'

const entry = fileURLToPath(new URL('./child.ts', import.meta.url))
const idle: ViewerProcess[] = []

/** Renders the file in a viewer process; the bytes stay in this thread. Each concurrent call has its own process. */
export async function render(bytes: Uint8Array, kind: FileKind): Promise<FilePreviewResult> {
  const viewer = idle.pop() ?? new ViewerProcess(entry)
  try {
    return await viewer.render(bytes, kind)
  } finally {
    idle.push(viewer)
  }
}
