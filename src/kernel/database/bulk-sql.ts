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
} from '../../record-store/index.ts'
