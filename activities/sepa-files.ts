import {
  applyNotice,
  bankFolderOf,
  claimFile,
  claimNotices,
  endTakingReport,
  makePaymentFile,
  recordHandedOver,
  recordStaged,
  sayReportIsLate,
  sepaFileStatus,
  sepaFileSteps,
} from '../src/commerce/rails/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type SepaFileActivities = Omit<ReturnType<typeof sepaFileActivities>, 'takeNotice'>

export const sepaFileActivities = ({ read, transaction, outside, systems }: ActivityTools) => {
  const readSepaFile = (ref: RecordRef) => read(ref, context => sepaFileStatus(ref.id, context))
  const folderOf = ({ mode }: RecordRef) => bankFolderOf(systems.sepaRail(mode))

  async function takeNotice(ref: RecordRef): Promise<void> {
    await transaction(ref, sepaFileSteps.tell, tx => applyNotice(ref.id, tx))
  }

  return {
    readSepaFile,

    async makeSepaFile(ref: RecordRef) {
      await transaction(ref, sepaFileSteps.make, tx => makePaymentFile(ref.id, tx))
      return readSepaFile(ref)
    },

    /** Where the bank does not see it yet. What is staged is not made again, even if the bank has fetched it since. */
    stageSepaFile: outside(sepaFileSteps.stage, async (ref, { transaction, call }) => {
      const file = await transaction(tx => claimFile(ref.id, 'made', tx))
      if (file)
        await call(
          () => folderOf(ref).stage(file.name, file.content),
          (_, tx) => recordStaged(ref.id, tx),
        )
      return readSepaFile(ref)
    }),

    /** Releases what is staged: once, however often it is repeated. */
    handOverSepaFile: outside(sepaFileSteps.release, async (ref, { transaction, call }) => {
      const file = await transaction(tx => claimFile(ref.id, 'staged', tx))
      if (file)
        await call(
          () => folderOf(ref).release(file.name),
          (_, tx) => recordHandedOver(ref.id, tx),
        )
      return readSepaFile(ref)
    }),

    async sayReportIsLate(ref: RecordRef) {
      await transaction(ref, sepaFileSteps.reportLate, tx => sayReportIsLate(ref.id, tx))
      return readSepaFile(ref)
    },

    /** Each payment’s notice has a transaction of its owner: a rejection brings the money back. One that fails holds up no other. */
    async takeReport(ref: RecordRef) {
      const failures: unknown[] = []
      const take = (notice: RecordRef) =>
        takeNotice(notice).catch((error: unknown) => void failures.push(error))
      const claimPage = (after?: string) =>
        transaction(ref, sepaFileSteps.takeReport, tx => claimNotices(ref.id, after, tx))
      let page = await claimPage()
      if (!page) return readSepaFile(ref)
      while (page && page.length > 0) {
        await Promise.all(page.map(take))
        page = await claimPage(page.at(-1)?.id)
      }
      await transaction(ref, sepaFileSteps.takeReport, tx => endTakingReport(ref.id, tx))
      if (failures.length > 0) throw new AggregateError(failures, `${failures.length} could not be taken`)
      return readSepaFile(ref)
    },

    /** A notice of a statement, which has no run. */
    takeNotice,
  }
}
