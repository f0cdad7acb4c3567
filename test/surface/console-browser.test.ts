import './console-browser/live.ts'
