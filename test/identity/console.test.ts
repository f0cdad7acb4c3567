import './console/gate.ts'
import './console/links.ts'
import './console/sign-in.ts'
import './console/sessions.ts'
