import './passkeys/enrol.ts'
