export { icon, shared as sharedScript } from './assets.ts'
