export {
  deletionFrom,
  exact,
  insertInto,
  insertIntoBoth,
  lockedRowsById,
  rowsById,
  selectList,
  updateOf,
  updateOfAnyTenant,
} from './bulk-sql.ts'
export { conditionText, entityTable } from './entity-table.ts'
export { runAlone, runInPipeline, sendPipeline } from './pipeline.ts'
export { RecordStore } from './record-store.ts'
export {
  type Condition,
  type FindOptions,
  type Records,
  type Row,
  type Sql,
  sqlCondition,
  type Tenant,
} from './records.ts'
export { type RowOf, type Table, tableOf } from './table.ts'
