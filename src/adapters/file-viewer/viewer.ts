import type { FileViewTask } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'

const THREAD = new URL('./thread.ts', import.meta.url).href

export const viewTask = (kind: FileKind): FileViewTask => ({ module: THREAD, name: 'render', args: [kind] })
