import './console/deciding.ts'
import './console/frame.ts'
import './console/money.ts'
import './console/tables.ts'
