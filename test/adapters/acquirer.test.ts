import './acquirer/sandbox-tokens.ts'
