export { monthsDue } from './due-months.ts'
