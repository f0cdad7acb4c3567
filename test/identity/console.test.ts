import './console/gate.ts'
import './console/links.ts'
