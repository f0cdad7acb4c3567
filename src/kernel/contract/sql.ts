export type { Row, Sql } from '../../record-store/records.ts'
