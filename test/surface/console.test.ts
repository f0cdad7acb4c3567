import './console/account.ts'
import './console/frame.ts'
import './console/tables.ts'
