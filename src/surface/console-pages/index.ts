export { icon, shared as sharedScript, webauthn } from './assets.ts'
