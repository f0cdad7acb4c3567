import './console/gate.ts'
import './console/links.ts'
import './console/sign-in.ts'
