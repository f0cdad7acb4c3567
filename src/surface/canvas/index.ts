export { canvasApi } from './api.ts'
