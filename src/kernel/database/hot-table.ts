export { type RowOf, type Table, tableOf } from '../../record-store/index.ts'
