export { type LoadedKeys, loadKeys } from './load-keys.ts'
