import './console/gate.ts'
