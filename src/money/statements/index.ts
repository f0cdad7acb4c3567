export { monthsDue } from './months.ts'
