import './packages/written.ts'
import './packages/installed.ts'
import './packages/calls.ts'
import './packages/examples.ts'
