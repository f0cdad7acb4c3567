import type { ViewTask } from '../../ports/viewer.ts'
import type { FileKind } from '../../values/file-kind.ts'

const THREAD = new URL('./thread.ts', import.meta.url).href

/** Each thread has its own processes, as it needs them: see `ViewerProcess`. */
export const viewTask = (kind: FileKind): ViewTask => ({ module: THREAD, name: 'look', args: [kind] })
