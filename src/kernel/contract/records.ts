export { type Condition, type FindOptions, type Records, sqlCondition } from '../../record-store/records.ts'
