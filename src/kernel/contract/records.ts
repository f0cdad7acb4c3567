export {
  contains,
  inRange,
  not,
  oneOf,
  type Range,
  type SqlCondition,
  sqlCondition,
  startsWith,
} from '../../record-store/conditions.ts'
export type { FindOptions, RecordCondition, Records, RowSource } from '../../record-store/records.ts'
