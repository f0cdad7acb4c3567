export {
  type FindOptions,
  type RecordCondition,
  type Records,
  sqlCondition,
} from '../../record-store/records.ts'
