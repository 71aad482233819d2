// Copyright 2026 The Tutti authors. SPDX-License-Identifier: Apache-2.0
//
// A machine as hwloc describes it: cores 0 and 1 in a package with eth0, cores 2 and 3 in another
// with eth1 and mlx5_0, which are of one card; bond0 is at no place.
#pragma once

namespace tutti_test {

inline constexpr char kTwoPackages[] = R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0">
  <object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" allowed_cpuset="0x0000000f" nodeset="0x00000003" complete_nodeset="0x00000003" allowed_nodeset="0x00000003" gp_index="1">
    <object type="Package" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="2">
      <object type="NUMANode" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="3" local_memory="1073741824"/>
      <object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="4"/>
      <object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" nodeset="0x00000001" complete_nodeset="0x00000001" gp_index="5"/>
      <object type="Bridge" gp_index="6" bridge_type="0-1" depth="0" bridge_pci="0000:[00-10]">
        <object type="PCIDev" gp_index="7" pci_busid="0000:01:00.0" pci_type="0200 [8086:1572] [0000:0000] 00" pci_link_speed="0.000000">
          <object type="OSDev" gp_index="8" name="eth0" osdev_type="2"/>
        </object>
      </object>
    </object>
    <object type="Package" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="9">
      <object type="NUMANode" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="10" local_memory="1073741824"/>
      <object type="PU" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="11"/>
      <object type="PU" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008" nodeset="0x00000002" complete_nodeset="0x00000002" gp_index="12"/>
      <object type="Bridge" gp_index="13" bridge_type="0-1" depth="0" bridge_pci="0000:[80-90]">
        <object type="PCIDev" gp_index="14" pci_busid="0000:81:00.0" pci_type="0200 [15b3:1017] [0000:0000] 00" pci_link_speed="0.000000">
          <object type="OSDev" gp_index="15" name="eth1" osdev_type="2"/>
          <object type="OSDev" gp_index="16" name="mlx5_0" osdev_type="3"/>
        </object>
      </object>
    </object>
    <object type="OSDev" gp_index="17" name="bond0" osdev_type="2"/>
  </object>
</topology>
)";

}  // namespace tutti_test
