export { setUp as default } from './run.ts'
