import { fileURLToPath } from 'node:url'
import type { Looked } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'
import { ViewerProcess } from './viewer-process.ts'

const viewer = new ViewerProcess(fileURLToPath(new URL('./child.ts', import.meta.url)))

/** Has the file looked at; the thread keeps its bytes. */
export const look = (bytes: Uint8Array, kind: FileKind): Promise<Looked> => viewer.look(bytes, kind)
