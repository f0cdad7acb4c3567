import {
  advanceDataDeletion,
  advanceDataExport,
  dataDeletionStatus,
  dataDeletionSteps,
  dataExportStatus,
  dataExportSteps,
} from '../src/compliance/gdpr/index.ts'
import type { RecordRef } from '../src/kernel/contract/step.ts'
import type { ActivityTools } from './shared/tools.ts'

export type ExportActivities = ReturnType<typeof exportActivities>
export type DeletionActivities = ReturnType<typeof deletionActivities>

export const exportActivities = ({ read, transaction }: ActivityTools) => {
  const readExport = (ref: RecordRef) => read(ref, context => dataExportStatus(ref.id, context))
  return {
    readExport,

    async advanceExport(ref: RecordRef) {
      await transaction(ref, dataExportSteps.advance, tx => advanceDataExport(ref.id, tx))
      return readExport(ref)
    },
  }
}

export const deletionActivities = ({ read, transaction }: ActivityTools) => {
  const readDeletion = (ref: RecordRef) => read(ref, context => dataDeletionStatus(ref.id, context))
  return {
    readDeletion,

    async advanceDeletion(ref: RecordRef) {
      await transaction(ref, dataDeletionSteps.advance, tx => advanceDataDeletion(ref.id, tx))
      return readDeletion(ref)
    },
  }
}
