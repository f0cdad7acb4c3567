export {
  bigintAsText,
  deletionFrom,
  insertInto,
  insertIntoBoth,
  lockedRowsById,
  rowsById,
  selectColumnList,
  updateOf,
  updateOfAnyTenant,
} from './bulk-sql.ts'
export {
  contains,
  inRange,
  not,
  oneOf,
  type Range,
  sqlCondition,
  startsWith,
} from './conditions.ts'
export { conditionSql, entityTable } from './entity-table.ts'
export { commandInPipeline, runInPipeline, runPreparedStatement, sendPipeline } from './pipeline.ts'
export { RecordStore } from './record-store.ts'
export type {
  FindOptions,
  RecordCondition,
  Records,
  Row,
  RowSource,
  Sql,
  Tally,
  TallyRow,
  Tenant,
} from './records.ts'
export { type RowOf, type Table, tableOf } from './table.ts'
