export {
  type FindOptions,
  type RecordCondition,
  type Records,
  type RowSource,
  sqlCondition,
} from '../../record-store/records.ts'
