import type { ProcessInput, ProcessStatus } from '../src/kernel/contract/process.ts'
import { type Run, readWith } from './support.ts'

/** Each of them can be made again: what has been done is found done. */
export const gdprActivities = (run: Run) => ({
  readExport: (input: ProcessInput): Promise<ProcessStatus> =>
    readWith(run, 'gdpr.exportStatus', input, requestOf(input)),

  async advanceExport(input: ProcessInput): Promise<void> {
    await run('gdpr.advanceExport', { of: input, as: 'process', requestId: requestOf(input) })
  },

  readDeletion: (input: ProcessInput): Promise<ProcessStatus> =>
    readWith(run, 'gdpr.deletionStatus', input, deletionOf(input)),

  async advanceDeletion(input: ProcessInput): Promise<void> {
    await run('gdpr.advanceDeletion', { of: input, as: 'process', requestId: deletionOf(input) })
  },
})

export type GdprActivities = ReturnType<typeof gdprActivities>

const deletionOf = ({ id }: ProcessInput): string => `workflow:gdpr-deletion/${id}`

const requestOf = ({ id }: ProcessInput): string => `workflow:gdpr-export/${id}`
