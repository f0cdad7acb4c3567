import './console/frame.ts'
import './console/tables.ts'
