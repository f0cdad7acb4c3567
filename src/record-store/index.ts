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
export { conditionSql, entityTable } from './entity-table.ts'
export { commandInPipeline, runInPipeline, runPreparedStatement, sendPipeline } from './pipeline.ts'
export { RecordStore } from './record-store.ts'
export {
  type FindOptions,
  type RecordCondition,
  type Records,
  type Row,
  type RowSource,
  type Sql,
  sqlCondition,
  type Tally,
  type TallyRow,
  type Tenant,
} from './records.ts'
export { type RowOf, type Table, tableOf } from './table.ts'
