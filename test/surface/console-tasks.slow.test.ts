import './console-tasks/measured.ts'
