import type { Viewer } from '../../ports/viewer.ts'

const THREAD = new URL('./thread.ts', import.meta.url).href

/** A process of its own for each thread of uploads, as it needs one: see `ViewerProcess`. */
export const viewerProcesses = (): Viewer => ({
  task: kind => ({ module: THREAD, name: 'look', args: [kind] }),
})
