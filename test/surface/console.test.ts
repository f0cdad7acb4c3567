import './console/deciding.ts'
import './console/frame.ts'
import './console/tables.ts'
